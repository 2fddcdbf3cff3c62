import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { signingKey } from '../contenders/credentials.js';
import { createTemplate, ID_LENGTH } from './event-template.js';
import { headOf, SIGNATURE_PLACEHOLDER, schemes } from './schemes.js';

const SIGNATURE_LENGTH = SIGNATURE_PLACEHOLDER.length;
const key = createSecretKey(signingKey, 'utf8');

/**
 * Distinct events, signed before they are needed, so that signing takes no time while the server is measured.
 */
export class SignedEvents {
  #request;
  #signatureOffset;
  #idOffset;
  #ids;
  #signatures;
  #taken = 0;

  /**
   * @param {{ scheme: string, bodyBytes: number, count: number }} options
   */
  constructor({ scheme: name, bodyBytes, count }) {
    const scheme = schemes[name]?.();
    if (scheme === undefined) throw new Error(`there is no scheme "${name}"`);
    const { body, idOffset } = createTemplate(bodyBytes);
    const head = Buffer.from(headOf(scheme, bodyBytes));
    this.#request = Buffer.concat([head, body]);
    this.#signatureOffset = head.indexOf(SIGNATURE_PLACEHOLDER);
    this.#idOffset = head.length + idOffset;
    this.#ids = Buffer.alloc(count * ID_LENGTH);
    this.#signatures = Buffer.alloc(count * SIGNATURE_LENGTH);
    this.#sign(body, idOffset, scheme.prefix, count);
  }

  /**
   * @param {Buffer} body
   * @param {number} idOffset
   * @param {string} prefix
   * @param {number} count
   */
  #sign(body, idOffset, prefix, count) {
    const series = `evt_${randomBytes(6).toString('hex')}`;
    for (let index = 0; index < count; index += 1) {
      const id = series + String(index).padStart(ID_LENGTH - series.length, '0');
      body.write(id, idOffset, 'latin1');
      const hmac = createHmac('sha256', key);
      if (prefix !== '') hmac.update(prefix);
      this.#ids.write(id, index * ID_LENGTH, 'latin1');
      this.#signatures.write(hmac.update(body).digest('hex'), index * SIGNATURE_LENGTH, 'latin1');
    }
  }

  /** How many have not been taken yet. */
  get left() {
    return this.#ids.length / ID_LENGTH - this.#taken;
  }

  /** A request for `writeNext`: each connection needs one of its own. */
  createRequest() {
    return Buffer.from(this.#request);
  }

  /**
   * Turns a request into that of the next event.
   *
   * @param {Buffer} request
   */
  writeNext(request) {
    const id = this.#taken * ID_LENGTH;
    const signature = this.#taken * SIGNATURE_LENGTH;
    this.#taken += 1;
    this.#ids.copy(request, this.#idOffset, id, id + ID_LENGTH);
    this.#signatures.copy(request, this.#signatureOffset, signature, signature + SIGNATURE_LENGTH);
  }
}
