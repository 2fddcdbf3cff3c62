/**
 * A request listener that reads the body, accepts it, and answers.
 *
 * @param {(body: Buffer, signature: string | undefined) => Promise<number>} accept gives the status
 * @returns {import('node:http').RequestListener}
 */
export function answerAccepted(accept) {
  return (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const { 'x-service-signature': signature } = /** @type {Record<string, string>} */ (request.headers);
      response.statusCode = await accept(Buffer.concat(chunks), signature);
      response.end('ok');
    });
  };
}
