/** How long a connection that is to be closed is still read (RFC 9112, section 9.6). */
export const LINGER_MS = 1_000;

/** How much of the rest is read at most. Senders that read no answer before they have sent all send less. */
export const LINGER_BYTES = 67_108_864;
