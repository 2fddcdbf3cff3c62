import { test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { packageRoot } from '../support/child-program.ts';
import { useCompiledProgram } from './compiled-program.ts';
import { expectBookedBeforeEnd } from './stop-ledger.ts';

const database = useDatabase();
const program = useCompiledProgram('ledger');

test.each(['Express', 'Fastify'] as const)(
  'on %s SIGTERM in the middle of a delivery lets it end, and only then does the pool close',
  (server) => expectBookedBeforeEnd(program(), packageRoot, database, server),
);
