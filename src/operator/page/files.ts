import { CONTENT_SECURITY_POLICY } from '../../page/content-security-policy.ts';
import { icon } from '../../page/icon.ts';
import { type OperatorAnswer, textAnswer } from '../answer.ts';
import { pageHtml } from './html.ts';
import { pageScript } from './script.ts';
import { pageStyle } from './style.ts';

interface PageFile {
  readonly text: string;
  readonly contentType: string;
}

/** The files beside the page. They are texts in modules, because a Worker has no files. */
export const pageFiles: ReadonlyMap<string, PageFile> = new Map([
  ['/page/page.js', { text: pageScript, contentType: 'text/javascript; charset=utf-8' }],
  ['/page/style.css', { text: pageStyle, contentType: 'text/css; charset=utf-8' }],
  ['/page/icon.svg', { text: icon, contentType: 'image/svg+xml' }],
]);

/**
 * The page, or one of its files; undefined for another request. `path` is below that of the mount, and
 * `requested` the path of the request.
 */
export function pageAnswer(method: string, path: string, requested: string): OperatorAnswer | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path !== '' && path !== '/') return answerOf(pageFiles.get(path));
  return answerOf({ text: pageHtml(baseOf(requested)), contentType: 'text/html; charset=utf-8' });
}

function answerOf(file: PageFile | undefined): OperatorAnswer | undefined {
  return (
    file && textAnswer(file.text, file.contentType, { 'content-security-policy': CONTENT_SECURITY_POLICY })
  );
}

/**
 * The path of the page's files, relative to the page: a proxy may serve both under another path. Some
 * frameworks take the slash at its end away, so a redirect to it could go round for ever.
 */
function baseOf(requested: string): string {
  const last = requested.slice(requested.lastIndexOf('/') + 1);
  return last === '' ? './' : `./${last}/`;
}
