import { createServer } from 'node:http';

/**
 * @typedef {object} HttpEvent
 * @property {{ http: { method: string } }} requestContext
 * @property {Record<string, string>} headers
 * @property {string} body
 * @property {boolean} isBase64Encoded
 *
 * @typedef {object} HttpResult
 * @property {number} statusCode
 * @property {Record<string, string>} [headers]
 * @property {string} body
 */

const context = { getRemainingTimeInMillis: () => 30_000 };

/**
 * A server that hands each request to a function of Lambda, as API Gateway does with payload format 2.0, and
 * sends its result.
 *
 * @param {(event: HttpEvent, given: typeof context) => Promise<HttpResult>} handler
 */
export function createGateway(handler) {
  return createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const { statusCode, headers, body } = await handler(
        {
          requestContext: { http: { method: request.method ?? '' } },
          headers: /** @type {Record<string, string>} */ (request.headers),
          body: Buffer.concat(chunks).toString(),
          isBase64Encoded: false,
        },
        context,
      );
      response.writeHead(statusCode, headers).end(body);
    });
  });
}
