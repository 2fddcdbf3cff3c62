import { expect, test } from 'vitest';
import { exportsOfBuilds } from '../support/exports-of-builds.ts';

test('posthorn/opentelemetry loads as ESM and as CommonJS, where its peer is installed', () => {
  const names = ['observeWithOpenTelemetry'];
  expect(exportsOfBuilds('posthorn/opentelemetry')).toEqual([names, names]);
});
