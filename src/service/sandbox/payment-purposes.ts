import type { PaymentPurpose } from '../shapes/reference-lists.ts';

const FIRST_ID = 3;
const LISTED_AT = '2024-01-15T00:00:00.000Z';

/** From id 3 to 19 (interface, "Payment purpose entry"). */
const titles = [
  'Purchase of Good(s)',
  'Purchase of Professional Service(s)',
  'Professional fees payment(i.e. legal, accountant)',
  'Payroll/Personnel Payment',
  'Payment for a loan or deposit',
  'Bill payment(i.e. credit card, utility)',
  'Research and Development',
  'Payment, Family Assistance',
  'Medical Assistance',
  'Medical Claim Reimbursement',
  'Remittance of funds from e-commerce',
  'IP Trademark Patent Work',
  'Travel/Hospitality',
  'Publisher',
  'Investment',
  'Wallet Top Up',
  'Internal Company Transfer',
];

export const paymentPurposes: readonly PaymentPurpose[] = titles.map((title, index) => ({
  id: FIRST_ID + index,
  category: 'Payment Purpose',
  title,
  createdAt: LISTED_AT,
  updatedAt: LISTED_AT,
}));
