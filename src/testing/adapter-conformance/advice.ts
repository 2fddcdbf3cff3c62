// Advice to the author of an adapter about a failure, which follows the expected and the actual value.

export const AS_IT_IS: string =
  'Hand the receiver the method, all headers and the bytes of the body as they were sent, and send the status, ' +
  'every header and the body of its reply as they are.';

export const BYTES: string =
  'A signature is over the bytes that were sent: readBody must give them unchanged, from a body that nothing ' +
  'has decoded (setEncoding, toString, request.text()) and no parser has read.';

export const HEADER_NAMES: string =
  'Hand over all headers at once (rawHeaders of Node.js, a Headers, the headers of an event), whatever the case ' +
  'of their names: the receiver finds those that it needs. Pick none by its name.';

export const REPEATED_HEADERS: string =
  'A header that was sent twice must show twice: hand over rawHeaders or headersDistinct of Node.js, or a ' +
  'multi-value form; headers of Node.js and Object.fromEntries join or drop values. Set foldsRepeatedHeaders ' +
  'only if the platform itself joins them before the adapter.';

export const CUT_BODY: string =
  'readBody must reject with a RequestError body_incomplete if the request ended before its end (the stream ' +
  'fails, or closes without its end); what has come until then is not a body. isConnected must return false ' +
  'once the sender has hung up. Set wholeBodiesOnly only if the platform lets no such request through.';

export const SLOW_BODY: string =
  'The receiver times the body and answers without it: stop reading when signal aborts, keep nothing of what ' +
  'comes later, and send the reply at once although the request is unfinished. If reply.close is set, send the answer whole with ' +
  'Connection: close, then close the connection. Set hidesConnections only if the server in front of the ' +
  'adapter decides this.';

export const BODY_LIMIT: string =
  'Count the bytes of the body as they come. As soon as there are more than maxBytes, stop reading and reject ' +
  'with a RequestError body_too_large; do not wait for the end of the body, which may never come. Begin to read ' +
  'only when readBody is called: it is not called for a body whose declared length is over the limit. If ' +
  'reply.close is set, answer with Connection: close.';

export const BODY_MEMORY: string =
  'Read each body only when readBody is called, and call onProgress with the number of bytes in memory whenever ' +
  'more have come.';

export const UNSENT_REST: string =
  'Send the reply before the rest of the request has come. If reply.close is set, answer with ' +
  'Connection: close, read and drop for a moment, then close. Otherwise read and drop the rest for up to ' +
  'reply.drainMs and keep the connection; close it if the rest does not come.';

export const READ_BODY: string =
  'If something has read the body before (readableDidRead, bodyUsed), readBody must at once throw a ' +
  "ConfigurationError with the code body_already_parsed: a stream that was read never ends again, and a parser's " +
  'result cannot be verified.';

export const URL_AS_SENT: string =
  'url of a delivery must be path and query of the request as they were sent: with the prefix of a mount ' +
  '(originalUrl), not decoded or parsed, and without scheme and host, which a proxy may send in the target.';

export const PATHS: string =
  'The path of a mount is not a pattern: compare it with the path of the request, without its query and one slash at ' +
  'its end, once both are decoded (decodeURI), and escape what the router of the framework would take for a parameter. ' +
  URL_AS_SENT;

export const HANG_UP: string =
  'A sender that hangs up must not abort receive. From then on isConnected of the delivery must return false. Set ' +
  'hidesConnections only if the platform does not tell which sender has hung up.';
