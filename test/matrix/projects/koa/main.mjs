import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';
import { koaBody } from 'koa-body';
import compress from 'koa-compress';
import mount from 'koa-mount';
import { createReceiver } from 'posthorn';
import { toKoa } from 'posthorn/koa';
import { createEvent, deliver } from 'posthorn/testing';

const key = 'key-of-koa';

function middleware(options) {
  const receiver = createReceiver({ signingKey: key }).on('*', () => {});
  return toKoa(
    receiver.observe(() => {}),
    options,
  );
}

const keepText = ({ req, request }, next) => {
  req.rawBody = request.rawBody;
  return next();
};
const router = () => new Router({ prefix: '/hooks' }).all('/webhooks', middleware()).routes();
const whole = { path: '/hooks/webhooks' };

const applications = {
  router: [router()],
  'mount, whole path': [mount('/hooks', middleware(whole))],
  'mount, rest of the path': [mount('/hooks', middleware({ path: '/webhooks' }))],
  'behind compression': [compress({ threshold: 0 }), middleware(whole)],
  'before bodyParser': [middleware(whole), bodyParser()],
  'behind bodyParser': [bodyParser(), router()],
  'behind bodyParser, text kept': [bodyParser(), keepText, router()],
  'behind koaBody': [koaBody(), router()],
};

for (const [name, middlewares] of Object.entries(applications)) {
  const app = new Koa();
  for (const each of middlewares) app.use(each);
  const server = await new Promise((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${server.address().port}/hooks/webhooks`;
  const event = createEvent('transfer.succeeded');
  const answers = [await deliver(url, event, { key }), await deliver(url, event, { key: 'another' })];
  const bodies = await Promise.all(answers.map((answer) => answer.json()));
  console.log(`${name}: ${bodies.map(({ outcome, code }) => outcome ?? code).join(', ')}`);
  server.close();
}
