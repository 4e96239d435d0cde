//! A producer without any library: XADD by hand over a unix socket, pipelined, so that entries may be as broken as they like.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use tq::model::EntryId;

/// A connection to Redis.
pub(super) struct Raw {
    stream: BufReader<UnixStream>,
}

impl Raw {
    pub(super) fn connect(socket: &Path) -> Self {
        Raw { stream: BufReader::new(UnixStream::connect(socket).unwrap()) }
    }

    /// Appends one entry for each value to the stream `key`: a field `task` with it or, without a value, another field.
    pub(super) fn xadd(&mut self, key: &str, tasks: &[Option<&[u8]>]) -> Vec<EntryId> {
        let mut request = Vec::new();
        for task in tasks {
            let (field, value) = task.map_or((&b"something"[..], &b"else"[..]), |task| (b"task", task));
            request.extend_from_slice(b"*5\r\n");
            for part in [b"XADD", key.as_bytes(), b"*", field, value] {
                write!(request, "${}\r\n", part.len()).unwrap();
                request.extend_from_slice(part);
                request.extend_from_slice(b"\r\n");
            }
        }
        self.stream.get_mut().write_all(&request).unwrap();
        tasks.iter().map(|_| self.id()).collect()
    }

    /// Reads the bulk string with an entry's id.
    fn id(&mut self) -> EntryId {
        let (mut length, mut id) = (String::new(), String::new());
        self.stream.read_line(&mut length).unwrap();
        assert!(length.starts_with('$'), "not an id: {length}");
        self.stream.read_line(&mut id).unwrap();
        id.trim_end().parse().unwrap()
    }
}
