import 'reflect-metadata';
import serverlessExpress from '@codegenie/serverless-express';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { createReceiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { getReceiverToken, PosthornModule } from 'posthorn/nestjs';
import { createEvent, signedHeaders } from 'posthorn/testing';
import http3 from 'serverless-http-3';
import http4 from 'serverless-http-4';

const key = 'key-of-lambda';
const path = '/webhooks';
const authentication = { type: 'BASIC', basic: { username: 'service', password: 'secret' } };
const options = { signingKey: key, authentication };

async function onExpress() {
  const receiver = createReceiver(options).on('*', () => {});
  return express().use(
    toExpress(
      receiver.observe(() => {}),
      { path },
    ),
  );
}

async function onNest() {
  const app = express();
  const module = { module: class {}, imports: [PosthornModule.forRoot({ path, ...options })] };
  const nest = await NestFactory.create(module, new ExpressAdapter(app), { logger: false });
  nest
    .get(getReceiverToken())
    .on('*', () => {})
    .observe(() => {});
  await nest.init();
  return app;
}

/** Events of API Gateway; format 2.0 joins the values of a name that was sent twice. */
const formats = {
  '1.0': (fields, body) => ({
    httpMethod: 'POST',
    path,
    headers: Object.fromEntries(fields.map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders: Object.fromEntries(fields),
    requestContext: { identity: { sourceIp: '192.0.2.7' } },
    body,
    isBase64Encoded: false,
  }),
  '2.0': (fields, body) => ({
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers: Object.fromEntries(fields.map(([name, values]) => [name, values.join(',')])),
    requestContext: { http: { method: 'POST', path, sourceIp: '192.0.2.7' } },
    body,
    isBase64Encoded: false,
  }),
};

const wrappers = {
  'serverless-http 3': http3,
  'serverless-http 4': http4,
  'serverless-express': (app) => serverlessExpress({ app }),
};

for (const [wrapper, wrap] of Object.entries(wrappers)) {
  for (const listen of [onExpress, onNest]) {
    const handler = wrap(await listen());
    for (const [format, toEvent] of Object.entries(formats)) {
      const body = JSON.stringify(createEvent('transfer.succeeded'));
      const fieldsOf = (signing) =>
        Object.entries({ ...signedHeaders(body, signing), host: 'x.example' }).map(([name, value]) => [
          name,
          [value],
        ]);
      const right = fieldsOf({ key, authentication });
      const wrong = fieldsOf({ key: 'another', authentication });
      const twice = right.map(([name, values]) => [
        name,
        name === 'x-service-signature' ? [...values, ...values] : values,
      ]);
      const results = [];
      for (const fields of [right, fieldsOf({ key }), wrong, ...(format === '2.0' ? [twice] : [])]) {
        const {
          statusCode,
          body: text,
          headers,
          multiValueHeaders,
        } = await handler(toEvent(fields, body), {});
        const { outcome, code } = JSON.parse(text);
        const types = [headers?.['content-type'], multiValueHeaders?.['content-type']].flat();
        const challenge = [headers, multiValueHeaders].some((all) => all?.['www-authenticate']);
        const isWhole =
          types.some((type) => type?.startsWith('application/')) && challenge === (statusCode === 401);
        results.push(`${outcome ?? code}${isWhole ? '' : ' with other headers'}`);
      }
      console.log(`${wrapper}, ${listen.name}, ${format}: ${results.join(', ')}`);
    }
  }
}
