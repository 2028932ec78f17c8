#!/usr/bin/env python3
"""A grey picture, .pgm, as one that browsers show, .png.

    python3 tools/docs/picture.py mandelbrot.pgm mandelbrot.png
"""

import re
import struct
import sys
import zlib
from pathlib import Path


def png_of(pgm: bytes) -> bytes:
    head = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", pgm)
    if head is None:
        raise SystemExit("picture.py: this is no grey picture of 255 shades (P5)")
    width, height = int(head[1]), int(head[2])
    rows = pgm[head.end() :]
    if len(rows) != width * height:
        raise SystemExit(f"picture.py: {width} x {height} pixels should be {width * height} bytes, and are {len(rows)}")

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + rows[y * width : (y + 1) * width] for y in range(height))
    size = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(png_of(source.read_bytes()))
