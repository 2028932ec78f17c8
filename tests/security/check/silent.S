        .text
        nop
