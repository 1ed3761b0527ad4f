//! `draw`: what a desktop does when it draws: a program sends requests, another one draws them into a picture.
//!
//! The program writes batches of requests to a UNIX socket, and with some of them the pixels of a small picture; the other
//! one, the display's server, fills, copies (scrolls) and puts pixels in a frame of 1024 x 768, and answers each batch.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{Draws, LoadError, Pace};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

const WIDTH: usize = 1024;
const HEIGHT: usize = 768;
/// Side of the small picture that a request of the last kind brings.
const TILE: usize = 64;
/// Requests in a batch.
const BATCH: usize = 64;
/// One request: what, and four numbers.
const REQUEST_LEN: usize = 10;
const BATCHES: usize = 0;
const PIXELS: usize = 1;

/// What a request asks for.
#[derive(Clone, Copy)]
enum What {
    /// One colour in a rectangle.
    Fill,
    /// A part of the frame goes some lines up.
    Scroll,
    /// The pixels that follow.
    Put,
}

/// A request within the frame.
#[derive(Clone, Copy)]
struct Asked {
    what: What,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Asked {
    /// Of ten, six fill a small rectangle, as text does, two a large one; one scrolls, one brings its pixels.
    fn random(mut below: impl FnMut(u64) -> u64) -> Asked {
        let mut below = |n: usize| below(n as u64) as usize;
        let (what, width, height) = match below(10) {
            0..6 => (What::Fill, 8, 16),
            6 | 7 => (What::Fill, 64 + below(256), 64 + below(256)),
            8 => (What::Scroll, WIDTH / 2, HEIGHT / 4),
            _ => (What::Put, TILE, TILE),
        };
        Asked {
            what,
            x: below(WIDTH - width + 1),
            y: below(HEIGHT - height + 1),
            width,
            height,
        }
    }

    fn encode(self) -> [u8; REQUEST_LEN] {
        let mut bytes = [0; REQUEST_LEN];
        let numbers = [self.what as usize, self.x, self.y, self.width, self.height];
        for (place, number) in bytes.chunks_exact_mut(2).zip(numbers) {
            place.copy_from_slice(&(number as u16).to_le_bytes());
        }
        bytes
    }

    /// None if it is none, or lies outside the frame.
    fn decode(bytes: [u8; REQUEST_LEN]) -> Option<Asked> {
        let number = |n: usize| usize::from(u16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]]));
        let what = [What::Fill, What::Scroll, What::Put].into_iter().nth(number(0))?;
        let asked = Asked {
            what,
            x: number(1),
            y: number(2),
            width: number(3),
            height: number(4),
        };
        (asked.x + asked.width <= WIDTH && asked.y + asked.height <= HEIGHT).then_some(asked)
    }

    fn pixels(self) -> usize {
        self.width * self.height
    }
}

/// What the display shows.
struct Frame(Vec<u32>);

impl Frame {
    fn line(&mut self, asked: Asked, n: usize) -> &mut [u32] {
        let begin = (asked.y + n) * WIDTH + asked.x;
        &mut self.0[begin..begin + asked.width]
    }

    fn draw(&mut self, asked: Asked, from: &mut impl Read, tile: &mut [u8]) -> io::Result<()> {
        match asked.what {
            What::Fill => (0..asked.height).for_each(|n| self.line(asked, n).fill(asked.x as u32)),
            What::Scroll => {
                for n in 1..asked.height {
                    let begin = (asked.y + n) * WIDTH + asked.x;
                    self.0.copy_within(begin..begin + asked.width, begin - WIDTH);
                }
            }
            What::Put => {
                from.read_exact(tile)?;
                for (n, bytes) in tile.chunks_exact(4 * TILE).enumerate() {
                    let pixels = bytes
                        .chunks_exact(4)
                        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    self.line(asked, n)
                        .iter_mut()
                        .zip(pixels)
                        .for_each(|(to, from)| *to = from);
                }
            }
        }
        Ok(())
    }
}

/// A program and a server that draw.
pub const DRAW: LoadCode = LoadCode {
    name: "draw",
    units: &["batches", "pixels"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    let (program, server) = UnixStream::pair().map_err(load.preparing("making UNIX sockets"))?;
    load.spawn(Ending::Anywhere, move |board| {
        let asks = ask(program, Draws::new(board, seed), Pace::alone(rate), || {
            board.add(BATCHES, 1)
        });
        asks.map_err(|e| format!("the program that draws: {e}"))
    })?;
    load.spawn(Ending::Anywhere, move |board| {
        let serves = serve(server, |pixels| board.add(PIXELS, pixels));
        serves.map_err(|e| format!("the server that draws: {e}"))
    })
}

/// Sends batches, each after the answer to the one before.
fn ask(mut server: UnixStream, mut draws: Draws, mut pace: Pace, done: impl Fn()) -> io::Result<()> {
    let tile = vec![0x5a; 4 * TILE * TILE];
    let mut bytes = Vec::new();
    loop {
        pace.wait();
        bytes.clear();
        for _ in 0..BATCH {
            let asked = Asked::random(|bound| draws.below(bound));
            bytes.extend_from_slice(&asked.encode());
            if matches!(asked.what, What::Put) {
                bytes.extend_from_slice(&tile);
            }
        }
        server.write_all(&bytes)?;
        server.read_exact(&mut [0])?;
        done();
    }
}

fn serve(stream: UnixStream, done: impl Fn(u64)) -> io::Result<()> {
    let mut answers = stream.try_clone()?;
    let mut requests = io::BufReader::new(stream);
    let mut frame = Frame(vec![0; WIDTH * HEIGHT]);
    let mut tile = vec![0; 4 * TILE * TILE];
    loop {
        let mut pixels = 0;
        for _ in 0..BATCH {
            let mut bytes = [0; REQUEST_LEN];
            requests.read_exact(&mut bytes)?;
            let asked = Asked::decode(bytes).ok_or_else(|| io::Error::other("a request that is none"))?;
            frame.draw(asked, &mut requests, &mut tile)?;
            pixels += asked.pixels() as u64;
        }
        done(pixels);
        answers.write_all(&[0])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_logs::prng::SplitMix64;

    #[test]
    fn requests_are_read_as_they_are_sent_and_stay_within_the_frame() {
        let mut random = SplitMix64::new(3);
        let mut kinds = [0; 3];
        for _ in 0..2_000 {
            let asked = Asked::random(|bound| random.below(bound));
            let read = Asked::decode(asked.encode()).unwrap();
            assert_eq!(read.encode(), asked.encode());
            kinds[asked.what as usize] += 1;
        }
        assert!(kinds.iter().all(|n| *n > 100), "{kinds:?}");
        let outside = Asked {
            what: What::Fill,
            x: WIDTH - 1,
            y: 0,
            width: 2,
            height: 1,
        };
        assert!(Asked::decode(outside.encode()).is_none());
        assert!(Asked::decode([9; REQUEST_LEN]).is_none());
    }

    #[test]
    fn each_request_changes_its_part_of_the_frame() {
        let mut frame = Frame(vec![7; WIDTH * HEIGHT]);
        let mut tile = vec![0; 4 * TILE * TILE];
        let asked = |what, x, y, width, height| Asked {
            what,
            x,
            y,
            width,
            height,
        };
        let none: &mut &[u8] = &mut [].as_slice();
        frame.draw(asked(What::Fill, 3, 1, 2, 2), none, &mut tile).unwrap();
        assert_eq!(frame.0.iter().filter(|p| **p == 3).count(), 4);
        frame
            .draw(asked(What::Scroll, 0, 0, WIDTH, 3), none, &mut tile)
            .unwrap();
        assert_eq!(frame.0[3..5], [3, 3]);
        let sent = vec![1; 4 * TILE * TILE];
        frame
            .draw(asked(What::Put, 9, 9, TILE, TILE), &mut sent.as_slice(), &mut tile)
            .unwrap();
        assert_eq!(frame.0.iter().filter(|p| **p == 0x0101_0101).count(), TILE * TILE);
        assert!(frame.draw(asked(What::Put, 0, 0, TILE, TILE), none, &mut tile).is_err());
    }
}
