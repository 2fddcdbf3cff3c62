import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { ErrorBody } from '../shapes/error-body.ts';
import { RefusedError } from './refused-error.ts';

/** The answer to a request: JSON, a text of another type, or a stream that another part writes. */
export type Answer = Head &
  (
    | { readonly body: unknown }
    | { readonly text: string; readonly contentType: string }
    | { readonly stream: (response: ServerResponse) => void; readonly contentType: string }
  );

interface Head {
  /** The HTTP status. */
  readonly status: number;
  /** Header fields besides those of the body. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer of a success. */
export function ok(body: unknown): Answer {
  return { status: 200, body };
}

/** The answer to a request that failed. */
export function refusal(error: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = errorBodyOf(error);
  return { status: body.status, headers, body };
}

/** The errors that `raw-body` throws for a wrong body. */
const bodyError = z.looseObject({ status: z.int().min(400).max(499), message: z.string() });

function errorBodyOf(error: unknown): ErrorBody {
  if (error instanceof RefusedError) {
    const { status, message, details } = error;
    return { status, message, ...(details !== undefined && { details }) };
  }
  const { data } = bodyError.safeParse(error);
  if (data !== undefined) return { status: data.status, message: 'Invalid request', details: data.message };
  return { status: 500, message: 'Internal error', details: messageOf(error) };
}

/** Node.js itself leaves out the body of the answer to a HEAD request. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
  const { status, headers } = answer;
  if ('stream' in answer) {
    response.writeHead(status, { ...headers, 'content-type': answer.contentType });
    if (response.req.method === 'HEAD') response.end();
    else answer.stream(response);
    return;
  }
  const { text, contentType } =
    'text' in answer ? answer : { text: JSON.stringify(answer.body), contentType: 'application/json' };
  response.writeHead(status, {
    ...headers,
    'content-type': `${contentType}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
