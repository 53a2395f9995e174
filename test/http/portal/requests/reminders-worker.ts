/** The process that is killed: a portal whose clock is days ahead, so that the reminders of its store are due. */
import { Faults } from '@sealwright/runtime';
import { clockedPortal, DAY } from './clocked-portal.ts';

const [, , root = '', days = '0'] = process.argv;
await clockedPortal(
  { teardown() {} },
  { root, faults: Faults.parse(process.env['SEALWRIGHT_FAULTS']), later: Number(days) * DAY },
);
