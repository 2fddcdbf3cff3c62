// Runs the application on each server, with and without raw bodies, and prints what it answers and does.

import 'reflect-metadata';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { createEvent, deliver } from 'posthorn/testing';
import { ApplicationModule, Gate, key } from './application.js';

/** Adapters of servers, by their names. */
const servers: Readonly<Record<string, () => AbstractHttpAdapter>> = {
  express: () => new ExpressAdapter(),
  fastify: () => new FastifyAdapter(),
};

async function create(adapter: AbstractHttpAdapter, rawBody: boolean): Promise<INestApplication> {
  const app = await NestFactory.create(ApplicationModule, adapter, { rawBody, logger: ['error'] });
  return app.setGlobalPrefix('api');
}

/** Starts the application as programs do. */
async function listen(app: INestApplication): Promise<string> {
  await app.listen(0, '127.0.0.1');
  return addressOf(app.getHttpServer());
}

/** Starts the application as tests with supertest do. */
async function init(app: INestApplication): Promise<string> {
  await app.init();
  const adapter = app.getHttpAdapter();
  if (adapter.getType() === 'fastify') await adapter.getInstance().ready();
  const server: Server = app.getHttpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return addressOf(server);
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function printAnswers(url: string): Promise<void> {
  const send = async (type: string, signingKey: string): Promise<void> => {
    const answer = await deliver(`${url}/webhooks`, createEvent(type, undefined, { any: true }), {
      key: signingKey,
    });
    const { outcome, code } = await answer.json();
    console.log(answer.status, outcome ?? code);
  };
  await send('transfer.succeeded', key);
  await send('dispute.created', key);
  await send('transfer.succeeded', 'forged');
  const headers = { 'content-type': 'application/json' };
  const echo = await fetch(`${url}/api/echo`, { method: 'POST', headers, body: '{ "a": [1] }' });
  console.log(`echo ${await echo.text()}`);
}

async function healthOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/health`);
  const { details } = await answer.json();
  return `health ${answer.status} ${JSON.stringify(details)}`;
}

/** Closes the application while it handles a delivery. */
async function closeInDelivery(app: INestApplication, url: string): Promise<void> {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    app.get(Gate, { strict: false }).pass = () => {
      resolve();
      return opened;
    };
  });
  const answer = deliver(`${url}/webhooks`, createEvent('transfer.failed'), { key });
  await begun;
  const before = await healthOf(url);
  console.log(before);
  const closed = app.close();
  let health = before;
  while (health === before) health = await healthOf(url);
  console.log(health);
  console.log(`refused ${(await deliver(`${url}/webhooks`, createEvent('dispute.won'), { key })).status}`);
  open();
  console.log(`answered ${(await answer).status}`);
  await closed;
}

async function run(): Promise<void> {
  for (const [server, createAdapter] of Object.entries(servers)) {
    for (const rawBody of [false, true]) {
      for (const start of [listen, init]) {
        console.log(`${server}, rawBody ${rawBody}, ${start.name}`);
        const app = await create(createAdapter(), rawBody);
        const url = await start(app);
        await printAnswers(url);
        await closeInDelivery(app, url);
      }
    }
  }
}

void run();
