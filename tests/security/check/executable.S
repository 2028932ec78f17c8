        .text
        nop
        .section .note.GNU-stack, "x", %progbits
