/** A statement about the lock of a job could not be sent while the lock was certainly held. */
export class LateStatementError extends Error {
  constructor() {
    super('the server of the queue was away until the lock of the job may have run out');
  }
}
