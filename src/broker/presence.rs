//! The sign that a process is connected.

/// Shows the store that a process is here, for as long as it is kept and the process is connected. Dropping it ends it.
pub struct Presence(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Presence {
    /// A sign that `leave` takes away.
    pub fn new(leave: impl FnOnce() + Send + Sync + 'static) -> Self {
        Presence(Some(Box::new(leave)))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(leave) = self.0.take() {
            leave();
        }
    }
}

impl std::fmt::Debug for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Presence")
    }
}
