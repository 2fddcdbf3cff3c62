import type { ModuleMetadata } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { onTestFinished } from 'vitest';

/** The servers that NestJS comes with. */
const servers = {
  Express: () => new ExpressAdapter(),
  Fastify: () => new FastifyAdapter(),
};

/** Creates an application on a server, and closes it after the test. */
export async function createApplication(
  metadata: ModuleMetadata,
  { server = 'Express', rawBody = false }: { server?: keyof typeof servers; rawBody?: boolean } = {},
): Promise<NestFastifyApplication> {
  const module = await Test.createTestingModule(metadata).compile();
  const app = module.createNestApplication<NestFastifyApplication>(servers[server](), {
    rawBody,
    logger: false,
  });
  onTestFinished(() => app.close());
  return app;
}
