/** The answer to a request that is not an event. */
export interface HandshakeReply {
  readonly body: string;
  readonly contentType: string;
}
