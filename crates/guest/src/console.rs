//! The way out: the board's, whose bytes the controller reads after the machine has stopped.
//!
//! The ready message comes first; after it either a record (see `worstcase_instruments::record`) or an error, which is
//! [`ERROR_MAGIC`] and a text.

use crate::ports;

const ERROR_MAGIC: &[u8] = b"WCERR\0";

/// Sends bytes to the controller.
pub(crate) fn send(bytes: &[u8]) {
    ports::send(bytes);
}

/// Tells the controller what went wrong and ends the machine.
pub(crate) fn fail(message: &str) -> ! {
    send(ERROR_MAGIC);
    send(message.as_bytes());
    crate::stop::power_off()
}
