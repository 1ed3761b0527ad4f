//! A generated C program with its Makefile: something real to compile that needs nothing but make and cc.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use worstcase_contract::prng::SplitMix64;

const FUNCTIONS_A_FILE: u64 = 60;
const HEADERS: u64 = 16;
const DECLARATIONS_A_HEADER: u64 = 100;

const MAKEFILE: &str = "\
CFLAGS = -O2
OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))

program: $(OBJECTS)
\t$(CC) -o $@ $(OBJECTS)

%.o: %.c $(wildcard *.h)
\t$(CC) $(CFLAGS) -c -o $@ $<

clean:
\trm -f program *.o
";

/// Writes a program of `files` C files into `folder`; equal seeds give equal programs.
pub(super) fn write(folder: &Path, files: u32, seed: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("Makefile"), MAKEFILE)?;
    let mut random = SplitMix64::new(seed);
    for i in 0..HEADERS {
        fs::write(folder.join(format!("header{i}.h")), header(i, &mut random))?;
    }
    for i in 0..files {
        fs::write(folder.join(format!("file{i}.c")), file(i, &mut random))?;
    }
    let mut main = String::from("#include <stdio.h>\n");
    let mut sum = String::from("0");
    for i in 0..files {
        main += &format!("unsigned long work{i}(unsigned long);\n");
        sum += &format!(" + work{i}({i})");
    }
    main += &format!("int main(void) {{ printf(\"%lu\\n\", {sum}); return 0; }}\n");
    fs::write(folder.join("main.c"), main)
}

fn header(number: u64, random: &mut SplitMix64) -> String {
    let mut text = format!("#ifndef HEADER{number}\n#define HEADER{number}\n");
    for i in 0..DECLARATIONS_A_HEADER {
        let (size, value) = (1 + random.below(32), random.next_u64());
        text += &format!("struct record{number}_{i} {{ char name[{size}]; unsigned long value; }};\n");
        text += &format!("#define VALUE{number}_{i} {value:#x}ul\n");
    }
    text + "#endif\n"
}

fn file(number: u32, random: &mut SplitMix64) -> String {
    let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
    for i in 0..HEADERS {
        text += &format!("#include \"header{i}.h\"\n");
    }
    let mut calls = String::new();
    for i in 0..FUNCTIONS_A_FILE {
        function(&mut text, i, random).expect("writing to a string does not fail");
        calls += &format!(" x = step{i}(x);");
    }
    text + &format!("unsigned long work{number}(unsigned long x) {{{calls} return x; }}\n")
}

fn function(text: &mut String, number: u64, random: &mut SplitMix64) -> std::fmt::Result {
    let (header, record) = (random.below(HEADERS), random.below(DECLARATIONS_A_HEADER));
    let (shift, rounds) = (1 + random.below(31), 2 + random.below(60));
    writeln!(
        text,
        "static unsigned long step{number}(unsigned long x) {{\n    \
             struct record{header}_{record} r = {{ .value = VALUE{header}_{record} }};\n    \
             for (unsigned i = 0; i < {rounds}; i++) {{\n        \
                 r.value = (r.value ^ x) * {factor:#x}ul + (x >> {shift});\n        \
                 switch (r.value & 3) {{\n        \
                 case 0: x += r.value; break;\n        \
                 case 1: x ^= r.value << {shift}; break;\n        \
                 case 2: x *= sizeof r; break;\n        \
                 default: x -= i;\n        }}\n    }}\n    \
             return x + r.value;\n}}",
        factor = random.next_u64() | 1,
    )
}
