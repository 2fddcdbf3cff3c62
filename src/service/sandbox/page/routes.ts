import { CONTENT_SECURITY_POLICY } from '../../../page/content-security-policy.ts';
import { icon } from '../../../page/icon.ts';
import type { Answer } from '../answer.ts';
import type { Endpoint } from '../endpoint.ts';
import { RefusedError } from '../refused-error.ts';
import type { ActivityStream } from './activity-stream.ts';
import type { Advice } from './advice.ts';
import { pageHtml } from './html.ts';
import { pageScript } from './script.ts';
import { pageStyle } from './style.ts';

/**
 * The files beside the page. They are texts in modules, so that both builds and the sources find them in the
 * same way.
 */
export const pageFiles: ReadonlyMap<string, { readonly text: string; readonly contentType: string }> =
  new Map([
    ['page.js', { text: pageScript, contentType: 'text/javascript' }],
    ['style.css', { text: pageStyle, contentType: 'text/css' }],
    ['icon.svg', { text: icon, contentType: 'image/svg+xml' }],
  ]);

const headers = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** The page at the root, its files, and the stream that keeps it up to date. */
export function pageRoutes(activity: ActivityStream, advice: Advice): readonly Endpoint[] {
  return [
    {
      path: '',
      get: ({ baseAddress }) => {
        // A path also works behind a proxy that speaks HTTPS. URL encodes the characters that HTML must not
        // contain.
        const base = new URL(`${baseAddress}/`).pathname;
        return { status: 200, headers, text: pageHtml(base, advice), contentType: 'text/html' };
      },
    },
    { path: '/sandbox/page/{file}', get: ({ id }) => fileNamed(id) },
    { path: '/sandbox/stream', get: () => activity.streamAnswer() },
  ];
}

function fileNamed(name: string): Answer {
  const file = pageFiles.get(name);
  if (file === undefined) throw new RefusedError(404, 'Not found', `the page does not have a file ${name}`);
  return { status: 200, headers, ...file };
}
