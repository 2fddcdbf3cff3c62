import { createServer } from 'node:http';
import { toNode } from '../../dist/adapters/node.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

serve(createServer(toNode(createBenchReceiver())), countHandled);
