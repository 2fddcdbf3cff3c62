import { test } from 'vitest';
import { expectNestExample, nestProjects, openNestExample } from './nest-example.ts';

test.each(nestProjects)(
  'examples/nest-fastify on NestJS $version, as $type, receives, replays by the command, and finishes its deliveries on SIGTERM',
  async (project) => {
    await expectNestExample(openNestExample('nest-fastify', project));
  },
);
