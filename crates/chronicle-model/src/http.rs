//! As much of an HTTP/1.1 server as a test needs, on the standard library.
//!
//! An async stack would bring a runtime and forty crates, and would hide the one thing that this server is for: deciding
//! byte by byte when a stream goes on, breaks or stands still. One thread per connection, one request per connection
//! (`connection: close`), everything bounded.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Longest head of a request.
const HEAD_MAX: u64 = 64 * 1024;
/// Longest body of a request.
const BODY_MAX: u64 = 32 * 1024 * 1024;

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) method: String,
    /// Without what follows `?`.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self { status, headers: Vec::new(), body: body.to_string() }
    }
}

pub(crate) fn read(stream: &TcpStream) -> io::Result<Incoming> {
    let mut reader = BufReader::new(stream);
    let (method, path, headers) = head(&mut (&mut reader).take(HEAD_MAX))?;
    if headers.get("expect").is_some_and(|it| it.eq_ignore_ascii_case("100-continue")) {
        (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let is_chunked = headers.get("transfer-encoding").is_some_and(|it| it.contains("chunked"));
    let body = if is_chunked { chunked(&mut reader)? } else { sized(&mut reader, &headers)? };
    Ok(Incoming { method, path, headers, body })
}

type Head = (String, String, BTreeMap<String, String>);

fn head(reader: &mut impl BufRead) -> io::Result<Head> {
    let first = line(reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(bad("the first line is no request"));
    };
    let path = target.split('?').next().unwrap_or(target).to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            return Ok((method.to_owned(), path, headers));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| bad("a header has no colon"))?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(bad("the request ends in its head"));
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}

fn sized(reader: &mut impl Read, headers: &BTreeMap<String, String>) -> io::Result<Vec<u8>> {
    let length = headers.get("content-length").map_or(Ok(0), |it| it.parse::<u64>());
    exactly(reader, length.map_err(|_| bad("the length is no number"))?, 0)
}

fn chunked(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(&mut reader.take(HEAD_MAX))?;
        let size = size.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size, 16).map_err(|_| bad("a chunk has no size"))?;
        // What came before counts against the limit too: many small chunks are as long as one.
        body.extend(exactly(reader, size, body.len() as u64)?);
        line(&mut reader.take(HEAD_MAX))?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn exactly(reader: &mut impl Read, length: u64, already: u64) -> io::Result<Vec<u8>> {
    if already.saturating_add(length) > BODY_MAX {
        return Err(bad("the body is too long"));
    }
    let mut body = Vec::new();
    if reader.take(length).read_to_end(&mut body)? as u64 == length {
        Ok(body)
    } else {
        Err(bad("the body ends too soon"))
    }
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Writes a whole answer.
pub(crate) fn write(mut stream: &TcpStream, reply: &Reply) -> io::Result<()> {
    let mut text = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
    for (name, value) in &reply.headers {
        text.extend([*name, ": ", value, "\r\n"]);
    }
    let length = reply.body.len().to_string();
    text.extend(["content-type: application/json\r\ncontent-length: ", &length]);
    text.extend(["\r\nconnection: close\r\n\r\n", &reply.body]);
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Begins a stream of events.
pub(crate) fn begin(mut stream: &TcpStream, headers: &[(&'static str, String)]) -> io::Result<()> {
    let mut text = String::from("HTTP/1.1 200 OK\r\n");
    for (name, value) in headers {
        text.extend([*name, ": ", value, "\r\n"]);
    }
    text.push_str("content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n");
    text.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    stream.write_all(text.as_bytes())
}

/// Sends a piece of a stream.
pub(crate) fn piece(mut stream: &TcpStream, text: &str) -> io::Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

/// Ends a stream well; one that is not ended so was cut.
pub(crate) fn end(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")?;
    stream.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_whole_or_not_at_all() {
        let mut whole = "3;x=1\r\nabc\r\n2\r\nde\r\n0\r\n\r\n".as_bytes();
        assert_eq!(chunked(&mut whole).unwrap(), b"abcde");
        assert!(chunked(&mut "5\r\nab".as_bytes()).is_err());
        assert!(chunked(&mut "fffffff\r\n".as_bytes()).is_err());
        let length = |it: &str| BTreeMap::from([("content-length".to_owned(), it.to_owned())]);
        assert_eq!(sized(&mut "abc".as_bytes(), &length("2")).unwrap(), b"ab");
        assert!(sized(&mut "abc".as_bytes(), &length("4")).is_err());
        assert!(sized(&mut "abc".as_bytes(), &length("99999999999")).is_err());
    }

    #[test]
    fn heads_are_read_and_half_ones_refused() {
        let (method, path, headers) =
            head(&mut "POST /k/v1/messages?beta=true HTTP/1.1\r\nA-B: c\r\n\r\n".as_bytes())
                .unwrap();
        assert_eq!((method.as_str(), path.as_str()), ("POST", "/k/v1/messages"));
        assert_eq!(headers["a-b"], "c");
        assert!(head(&mut "POST / HTTP/1.1\r\nA: b".as_bytes()).is_err());
    }
}
