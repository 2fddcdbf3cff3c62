import { HandlerError, messageOf, PermanentError } from './errors.ts';
import type { WebhookEvent } from './event.ts';
import type { HandlerReport } from './report.ts';
import type { HandlerContext, Route } from './router.ts';

/** What the handlers of an event have reached; it can be read while they run. */
export interface Progress {
  /** Names of the handlers that have finished, in this attempt or an earlier one. */
  readonly handled: Set<string>;
  readonly reports: HandlerReport[];
}

/**
 * Runs the handlers side by side, all to their end. Returns an error for those that failed, else undefined; it never
 * rejects.
 */
export async function runHandlers(
  routes: readonly Route[],
  event: WebhookEvent<string, unknown>,
  context: HandlerContext,
  progress: Progress,
): Promise<HandlerError | undefined> {
  const ends = await Promise.all(routes.map((route) => runOne(route, event, context, progress)));
  const failures = ends.filter((end) => !end.ok);
  if (failures.length === 0) return undefined;
  const errors = failures.map(({ error }) => error);
  // A permanent failure comes first: it is the reason why the event is parked.
  errors.sort((a, b) => Number(b instanceof PermanentError) - Number(a instanceof PermanentError));
  const code = errors[0] instanceof PermanentError ? 'handler_failed_permanently' : 'handler_failed';
  return new HandlerError(code, failures.map(describe).join('; '), errors);
}

interface End {
  readonly name: string | undefined;
  readonly ok: boolean;
  readonly error?: unknown;
}

async function runOne(
  route: Route,
  event: WebhookEvent<string, unknown>,
  context: HandlerContext,
  progress: Progress,
): Promise<End> {
  const { name } = route;
  const startedAt = performance.now();
  const end = await call(route, event, context);
  progress.reports.push({ name, ok: end.ok, durationMs: performance.now() - startedAt });
  if (end.ok && name !== undefined) progress.handled.add(name);
  return end;
}

async function call(
  route: Route,
  event: WebhookEvent<string, unknown>,
  context: HandlerContext,
): Promise<End> {
  try {
    await route.handle(event, context);
    return { name: route.name, ok: true };
  } catch (error) {
    return { name: route.name, ok: false, error };
  }
}

function describe({ name, error }: End): string {
  const subject = name === undefined ? 'a handler' : `the handler "${name}"`;
  return `${subject} failed: ${messageOf(error)}`;
}
