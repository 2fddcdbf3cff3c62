import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Lets one browser in. It trades a token, which is in a printed address and works once, for a cookie. */
export class Session {
  readonly token: string = randomBytes(32).toString('base64url');
  /** Browsers keep one cookie of a name for all ports of a host, and there may be several commands. */
  readonly #cookieName = `posthorn_operator_${randomBytes(8).toString('hex')}`;
  /** A history or a log has the address, so the value has nothing of the token. */
  readonly #cookie = `${this.#cookieName}=${randomBytes(32).toString('base64url')}`;
  #isTraded = false;

  /** Returns the value of `set-cookie` for the token, once; undefined for any other token, and after that. */
  trade(token: string): string | undefined {
    if (this.#isTraded || !isSame(token, this.token)) return undefined;
    this.#isTraded = true;
    return `${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`;
  }

  /** Returns true for a request of the browser that was let in. */
  isOpenTo({ headers: { cookie = '' } }: Pick<IncomingMessage, 'headers'>): boolean {
    return cookie
      .split(';')
      .map((pair) => pair.trim())
      .some((pair) => pair.startsWith(`${this.#cookieName}=`) && isSame(pair, this.#cookie));
  }
}

/** Takes the same time for all texts of a length. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
