/** The time for which a connection that is to be closed is still read (RFC 9112, section 9.6). */
export const LINGER_MS = 1_000;
