/**
 * Where the first response in `bytes` ends, or undefined while some of it is missing.
 *
 * @param {Buffer} bytes
 * @returns {number | undefined}
 */
export function endOfResponse(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase();
  const bodyStart = headEnd + 4;
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  const end = length === undefined ? endOfChunks(bytes, bodyStart) : bodyStart + Number(length);
  return end === undefined || end > bytes.length ? undefined : end;
}

/**
 * RFC 9112, section 7.1, without trailers.
 *
 * @param {Buffer} bytes
 * @param {number} start
 * @returns {number | undefined}
 */
function endOfChunks(bytes, start) {
  for (let position = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', position);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16);
    position = lineEnd + 2 + size + 2;
    if (size === 0 || position > bytes.length) return position;
  }
}
