/** How long a connection that is to be closed is still read (RFC 9112, section 9.6). */
export const LINGER_MS = 1_000;

/** The most bytes that are read of the rest. Senders that take no answer before their last byte send less. */
export const LINGER_BYTES = 67_108_864;
