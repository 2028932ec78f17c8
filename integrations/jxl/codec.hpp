#pragma once

// libjxl's encoder and decoder with a runner of one's choice: for the test and for the times.

#include <jxl/decode.h>
#include <jxl/decode_cxx.h>
#include <jxl/encode.h>
#include <jxl/encode_cxx.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "../photograph.hpp"

namespace test {

/// What an encoder or a decoder is told of its threads.
struct runner {
  JxlParallelRunner run = nullptr;
  void* self = nullptr;
};

inline constexpr JxlPixelFormat format{3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};

inline void need(bool holds, char const* what) {
  if (!holds) throw std::runtime_error{what};
}

/// At the default quality. `effort`: 1, fast, to 9.
inline bytes encode(image const& i, runner r, int effort = 3) {
  auto const e = JxlEncoderMake(nullptr);
  if (r.run != nullptr) need(JxlEncoderSetParallelRunner(e.get(), r.run, r.self) == JXL_ENC_SUCCESS, "no runner");
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = i.width;
  info.ysize = i.height;
  info.bits_per_sample = 8;
  info.uses_original_profile = JXL_FALSE;
  need(JxlEncoderSetBasicInfo(e.get(), &info) == JXL_ENC_SUCCESS, "no basic info");
  JxlColorEncoding colours;
  JxlColorEncodingSetToSRGB(&colours, JXL_FALSE);
  need(JxlEncoderSetColorEncoding(e.get(), &colours) == JXL_ENC_SUCCESS, "no colours");
  auto* const settings = JxlEncoderFrameSettingsCreate(e.get(), nullptr);
  need(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort) == JXL_ENC_SUCCESS, "no such effort");
  need(JxlEncoderAddImageFrame(settings, &format, i.pixels.data(), i.pixels.size()) == JXL_ENC_SUCCESS, "the image was not taken");
  JxlEncoderCloseInput(e.get());
  bytes out(1 << 16);
  std::size_t used = 0;
  for (;;) {
    std::uint8_t* next = out.data() + used;
    std::size_t room = out.size() - used;
    JxlEncoderStatus const s = JxlEncoderProcessOutput(e.get(), &next, &room);
    used = out.size() - room;
    if (s == JXL_ENC_SUCCESS) break;
    need(s == JXL_ENC_NEED_MORE_OUTPUT, "the encoder failed");
    out.resize(out.size() * 2);
  }
  out.resize(used);
  return out;
}

inline image decode(bytes const& from, runner r) {
  auto const d = JxlDecoderMake(nullptr);
  if (r.run != nullptr) need(JxlDecoderSetParallelRunner(d.get(), r.run, r.self) == JXL_DEC_SUCCESS, "no runner");
  need(JxlDecoderSubscribeEvents(d.get(), JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) == JXL_DEC_SUCCESS, "no events");
  need(JxlDecoderSetInput(d.get(), from.data(), from.size()) == JXL_DEC_SUCCESS, "no input");
  JxlDecoderCloseInput(d.get());
  image i;
  for (;;) {
    switch (JxlDecoderProcessInput(d.get())) {
      case JXL_DEC_BASIC_INFO: {
        JxlBasicInfo info;
        need(JxlDecoderGetBasicInfo(d.get(), &info) == JXL_DEC_SUCCESS, "no basic info");
        i.width = info.xsize;
        i.height = info.ysize;
        i.pixels.resize(std::size_t{i.width} * i.height * 3);
        break;
      }
      case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
        need(JxlDecoderSetImageOutBuffer(d.get(), &format, i.pixels.data(), i.pixels.size()) == JXL_DEC_SUCCESS, "no buffer");
        break;
      case JXL_DEC_FULL_IMAGE: break;
      case JXL_DEC_SUCCESS: return i;
      default: throw std::runtime_error{"the decoder failed"};
    }
  }
}

}  // namespace test
