//! Tells which of an agent's two output pipes became readable first. Pipes carry no timestamps: after a
//! wake-up both may be readable even though one was written first. Epoll keeps the order of readiness;
//! nothing finer is known.

use std::os::fd::OwnedFd;

use crate::run::arrivals::Stream;

pub(super) struct Order(Option<OwnedFd>);

impl Order {
    pub(super) fn of(outputs: [&OwnedFd; 2]) -> Order {
        Order(follow(outputs))
    }

    /// Returns the order in which to read both pipes. Each call covers what came since the last one, so a
    /// pipe that is not reported came before.
    pub(super) fn look(&self) -> [Stream; 2] {
        match self.0.as_ref().and_then(last) {
            Some(Stream::Out) => [Stream::Err, Stream::Out],
            Some(Stream::Err) | None => [Stream::Out, Stream::Err],
        }
    }
}

#[cfg(target_os = "linux")]
fn follow(outputs: [&OwnedFd; 2]) -> Option<OwnedFd> {
    use rustix::event::epoll::{CreateFlags, EventData, EventFlags, add, create};
    let order = create(CreateFlags::CLOEXEC).ok()?;
    for (output, stream) in outputs.into_iter().zip(Stream::ALL) {
        let data = EventData::new_u64(*stream as u64);
        add(&order, output, data, EventFlags::IN | EventFlags::ET).ok()?;
    }
    Some(order)
}

#[cfg(target_os = "linux")]
fn last(order: &OwnedFd) -> Option<Stream> {
    use rustix::event::{Timespec, epoll};
    use std::mem::MaybeUninit;
    let mut room = [MaybeUninit::<epoll::Event>::uninit(); 2];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let (came, _) = epoll::wait(order, &mut room, Some(&at_once)).ok()?;
    let data = came.last()?.data;
    let mut streams = Stream::ALL.iter().copied();
    streams.find(|one| *one as u64 == data.u64())
}

#[cfg(not(target_os = "linux"))]
fn follow(_outputs: [&OwnedFd; 2]) -> Option<OwnedFd> {
    None
}

#[cfg(not(target_os = "linux"))]
fn last(_order: &OwnedFd) -> Option<Stream> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read, Write, pipe};

    use super::*;
    use crate::run::arrivals::Stream::{Err, Out};

    #[test]
    fn what_came_first_is_read_first() {
        let ((mut out, mut to_out), (mut err, mut to_err)) = (pipe().unwrap(), pipe().unwrap());
        let ends = [&out, &err].map(|end| OwnedFd::from(end.try_clone().unwrap()));
        let order = Order::of([&ends[0], &ends[1]]);
        for _ in 0..20 {
            for written in [[Err, Out], [Out, Err], [Out, Err], [Err, Out]] {
                for stream in written {
                    match stream {
                        Out => to_out.write_all(b"x").unwrap(),
                        Err => to_err.write_all(b"x").unwrap(),
                    }
                }
                assert_eq!(order.look(), written);
                out.read_exact(&mut [0]).unwrap();
                err.read_exact(&mut [0]).unwrap();
            }
        }
    }

    #[test]
    fn one_that_was_named_before_came_before() {
        let ((out, mut to_out), (err, mut to_err)) = (pipe().unwrap(), pipe().unwrap());
        let ends = [out, err].map(OwnedFd::from);
        let order = Order::of([&ends[0], &ends[1]]);
        to_err.write_all(b"x").unwrap();
        assert_eq!(order.look(), [Out, Err]);
        to_out.write_all(b"x").unwrap();
        assert_eq!(order.look(), [Err, Out]);
    }

    #[test]
    fn without_the_system_the_standard_output_is_read_first() {
        assert_eq!(Order(None).look(), [Out, Err]);
    }
}
