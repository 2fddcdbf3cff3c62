/** Imports each subpath of the package, and prints what became of the deliveries as one line of JSON. */
import * as core from 'posthorn';
import * as client from 'posthorn/client';
import * as express from 'posthorn/express';
import * as fetch from 'posthorn/fetch';
import * as file from 'posthorn/file';
import * as node from 'posthorn/node';
import * as operator from 'posthorn/operator';
import * as redis from 'posthorn/redis';
import * as sandbox from 'posthorn/sandbox';
import * as testing from 'posthorn/testing';
import { nameRuntime, receiveDeliveries } from './deliveries.mjs';
import { receiveFetchDeliveries } from './fetch-deliveries.mjs';

const subpaths = { core, client, express, fetch, file, node, operator, redis, sandbox, testing };
const results = { ...(await receiveDeliveries(subpaths)), fetch: await receiveFetchDeliveries(subpaths) };
process.stdout.write(`${JSON.stringify({ runtime: nameRuntime(), ...results })}\n`);
