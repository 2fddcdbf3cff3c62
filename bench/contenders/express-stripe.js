import { createServer } from 'node:http';
import express from 'express';
import Stripe from 'stripe';
import { signingKey } from './credentials.js';
import { serve } from './serve.js';

const stripe = new Stripe('sk_test_bench');
const seen = new Map();
let handled = 0;

/** @param {{ id: string }} event */
function handleOnce({ id }) {
  if (seen.has(id)) return;
  seen.set(id, Date.now());
  handled += 1;
}

const app = express();
app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
  let event;
  try {
    event = stripe.webhooks.constructEvent(request.body, request.get('stripe-signature') ?? '', signingKey);
  } catch {
    response.status(400).end('refused');
    return;
  }
  handleOnce(event);
  response.end('ok');
});

serve(createServer(app), () => handled);
