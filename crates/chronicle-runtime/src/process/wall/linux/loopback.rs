//! Turns on the loopback of a new network namespace. Without it, tests that talk to themselves fail.

use std::io;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// `RTM_NEWLINK`, which also changes a link that is there.
const NEW_LINK: u16 = 16;
/// `NLM_F_REQUEST | NLM_F_ACK`: it is answered even if all went well.
const REQUEST_AND_ANSWER: u16 = 1 | 4;
/// `NLMSG_ERROR`, which is also how success is told.
const ANSWER: u16 = 2;
/// The loopback is the first link of every namespace.
const LOOPBACK: i32 = 1;
/// `IFF_UP`: the link is on.
const UP: u32 = 1;
/// A header and a link, of 16 bytes each.
const MESSAGE_BYTES: u32 = 32;

/// Asks the kernel by a message: the older way is an `ioctl`, which takes `unsafe`.
pub(super) fn up() -> io::Result<()> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    send(&socket, &message(), SendFlags::empty())?;
    let mut answer = [0_u8; 1024];
    let (count, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    judge(&answer[..count])
}

fn message() -> Vec<u8> {
    let mut message = Vec::new();
    message.extend(MESSAGE_BYTES.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ANSWER.to_ne_bytes());
    // A number of the message, and of its sender: there is one message and one sender.
    message.extend([1_u32, 0].map(u32::to_ne_bytes).concat());
    // Family, padding and type, which are not asked for.
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    // The flags, and which of them change.
    message.extend([UP, UP].map(u32::to_ne_bytes).concat());
    message
}

/// An answer has its kind after its length, and the error after the header of 16 bytes: 0, or the number below 0.
fn judge(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(ANSWER), Some(0)) => Ok(()),
        (Some(ANSWER), Some(code)) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_as_long_as_it_says() {
        assert_eq!(message().len(), MESSAGE_BYTES as usize);
    }

    #[test]
    fn an_answer_that_is_no_answer_is_an_error() {
        let answer = |kind: u16, code: i32| {
            let mut bytes = vec![0; 20];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[16..20].copy_from_slice(&code.to_ne_bytes());
            bytes
        };
        assert!(judge(&answer(ANSWER, 0)).is_ok());
        assert_eq!(judge(&answer(ANSWER, -1)).unwrap_err().raw_os_error(), Some(1));
        assert!(judge(&answer(3, 0)).is_err());
        assert!(judge(&[]).is_err());
    }
}
