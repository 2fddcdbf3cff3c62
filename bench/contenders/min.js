import { createServer } from 'node:http';
import { answerMinimum, countHandled } from './minimum.js';
import { serve } from './serve.js';

serve(createServer(answerMinimum), countHandled);
