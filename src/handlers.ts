import {
  DataError,
  HandlerError,
  InternalError,
  messageOf,
  PermanentError,
  type PosthornError,
} from './errors.ts';
import { entityOf, type WebhookEvent } from './event.ts';
import type { HandlerReport } from './report.ts';
import type { HandlerContext, Route } from './router.ts';
import { type StandardSchemaV1, validateData } from './schema.ts';

/** What the handlers of an event have reached; it can be read while they run. */
export interface Progress {
  /** Names of the handlers that have finished, in this attempt or an earlier one. */
  readonly handled: Set<string>;
  readonly reports: HandlerReport[];
}

/**
 * Runs the handlers that have not finished before side by side, all to their end, with the output of the entity's schema as
 * data. Returns an error for what failed, else undefined; it never rejects.
 */
export async function runHandlers(
  routes: readonly Route[],
  event: WebhookEvent,
  context: HandlerContext,
  schemas: ReadonlyMap<string, StandardSchemaV1>,
  progress: Progress,
): Promise<PosthornError | undefined> {
  const open = routes.filter(({ name }) => name === undefined || !progress.handled.has(name));
  try {
    const valid = await validate(event, schemas);
    const ends = await Promise.all(open.map((route) => runOne(route, valid, context, progress)));
    return errorOf(ends.filter((end) => !end.ok));
  } catch (error) {
    if (error instanceof DataError) return error;
    return new InternalError('internal_error', messageOf(error), { cause: error });
  }
}

async function validate(
  event: WebhookEvent,
  schemas: ReadonlyMap<string, StandardSchemaV1>,
): Promise<WebhookEvent<string, unknown>> {
  const entity = entityOf(event.type);
  const schema = schemas.get(entity);
  return schema === undefined ? event : { ...event, data: await validateData(schema, event.data, entity) };
}

function errorOf(failures: readonly End[]): HandlerError | undefined {
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
