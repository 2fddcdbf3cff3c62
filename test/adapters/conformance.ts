import { type AdapterConformanceOptions, adapterConformance } from 'posthorn/testing';
import { test } from 'vitest';
import type { Mount } from './endpoint.ts';

/** What every adapter must do: each row of the table of answers, over a real socket. */
export function conformance(mount: Mount, options?: AdapterConformanceOptions): void {
  for (const { name, run } of adapterConformance(mount, options)) test(name, run);
}
