import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import type { ErrorBody } from '../service/error-body.ts';
import { RefusedError } from './refused-error.ts';

/** What a request is answered. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** Header fields besides those of the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
}

/** A success. */
export function ok(body: unknown): Answer {
  return { status: 200, body };
}

/** The answer to a request with which something went wrong. */
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

/** Node.js itself leaves out the body where the request is a HEAD. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
