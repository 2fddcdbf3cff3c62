import type { IncomingMessage } from 'node:http';
import { type OperatorAnswer, textAnswer } from '../../operator/answer.ts';
import { isLoopback, readHost } from '../../service/sandbox/host.ts';
import type { Session } from './session.ts';

/** The answer to a request that must not get to the interface of operators; undefined for one that may. */
export function ownAnswer(request: IncomingMessage, session: Session): OperatorAnswer | undefined {
  const { host: hosts = [] } = request.headersDistinct;
  if (!isOwnHost(hosts)) return misdirected(hosts);
  const { method, url = '' } = request;
  const [path = ''] = url.split('?', 1);
  if (path !== '/' || (method !== 'GET' && method !== 'HEAD')) return undefined;
  const tokens = new URLSearchParams(url.slice(path.length)).getAll('token');
  if (session.isOpenTo(request)) return tokens.length === 0 ? undefined : onward({});
  if (tokens.length === 0) return refusal(NOT_SIGNED_IN);
  // HEAD comes from a program that looks at the address, and must not use it up.
  const [token = ''] = method === 'GET' && tokens.length === 1 ? tokens : [];
  const cookie = session.trade(token);
  return cookie === undefined ? refusal(USED_ADDRESS) : onward({ 'set-cookie': cookie });
}

/**
 * A page can make its own name resolve to this machine (DNS rebinding), but has no loopback name then. The
 * port may be another one, that of a tunnel.
 */
function isOwnHost([host, ...others]: readonly string[]): boolean {
  const url = host === undefined ? undefined : readHost(host);
  return url !== undefined && others.length === 0 && isLoopback(url.hostname);
}

function misdirected(hosts: readonly string[]): OperatorAnswer {
  const text =
    'posthorn operator is reached only as localhost, 127.0.0.1 or [::1], with any port; ' +
    `this request has the Host ${JSON.stringify(hosts.join())}.\n`;
  return { ...textAnswer(text, 'text/plain; charset=utf-8', {}), status: 403 };
}

/**
 * Goes to the page by itself. A redirect would end a navigation that another site may have begun, by a link,
 * and then the browser would not send a cookie with `SameSite=Strict`.
 */
function onward(headers: Readonly<Record<string, string>>): OperatorAnswer {
  return htmlAnswer('<p><a href="/">Go on to the page</a></p>', ONWARD, headers);
}

const ONWARD = '<meta http-equiv="refresh" content="0; url=/">\n';

const NOT_SIGNED_IN =
  'This browser is not signed in. Open the address that the command posthorn operator has printed. It works once: ' +
  'if it was opened before, start the command again, and open its new address.';

const USED_ADDRESS =
  'This address does not work. Each works once, in one browser: start the command posthorn operator again, and ' +
  'open its new address.';

/** A link from here brings the cookie, unlike one on another site. */
const WAY_BACK = '<p>If this browser is signed in, <a href="/">go on to the page</a>.</p>';

function refusal(text: string): OperatorAnswer {
  return { ...htmlAnswer(`<p>${text}</p>\n${WAY_BACK}`, '', {}), status: 403 };
}

function htmlAnswer(body: string, head: string, headers: Readonly<Record<string, string>>): OperatorAnswer {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>posthorn</title>
${head}</head>
<body>
${body}
</body>
</html>
`;
  return textAnswer(html, 'text/html; charset=utf-8', { ...headers, 'referrer-policy': 'no-referrer' });
}
