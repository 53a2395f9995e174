/** The process that is killed: a portal that is asked for a new link in place of an expired one. */
import { Faults } from '@sealwright/runtime';
import { clockedPortal } from './clocked-portal.ts';

const [, , root = '', key = '', ticket = ''] = process.argv;
const { fixture } = await clockedPortal(
  { teardown() {} },
  { root, faults: Faults.parse(process.env['SEALWRIGHT_FAULTS']) },
);
await fixture.portal.signingPages.requestLink(key, ticket);
