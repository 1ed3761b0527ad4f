//! The `worstcase` command.

fn main() -> std::process::ExitCode {
    worstcase::cli::main()
}
