//! The way out: QEMU's debug port, whose bytes the controller reads after the machine has stopped.
//!
//! The ready message comes first; after it either a record (see `worstcase_instruments::record`) or an error, which is
//! [`ERROR_MAGIC`] and a text.

use crate::ports;

/// The debug port. SeaBIOS talks on 0x402; this one is ours.
const PORT: u16 = 0xe9;
const ERROR_MAGIC: &[u8] = b"WCERR\0";

/// Sends bytes to the controller.
pub(crate) fn send(bytes: &[u8]) {
    ports::out_all(PORT, bytes);
}

/// Tells the controller what went wrong and ends the machine.
pub(crate) fn fail(message: &str) -> ! {
    send(ERROR_MAGIC);
    send(message.as_bytes());
    crate::stop::power_off()
}
