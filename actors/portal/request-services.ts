/** Parts of the portal for requests that are not sent yet: drafts, templates, saved flows and sessions of the editor. */

import type { Accounts } from './accounts.ts';
import type { DocumentServices } from './document-services.ts';
import { Drafts } from './drafts/drafts.ts';
import { EditorSessionService } from './drafts/editor-sessions.ts';
import { SavedFlowService } from './drafts/saved-flows.ts';
import { Generations } from './generation/generations.ts';
import { Templates } from './generation/templates.ts';
import { MarksSessionService } from './signing/marks-sessions.ts';
import type { PortalCommon } from './wiring-common.ts';

export function createRequestServices(common: PortalCommon, accounts: Accounts, documents: DocumentServices) {
  const { runtime, pool, blobs, uploads, tickets, publicUrl } = common;
  const { tenants, folderRights } = accounts;
  const { creation, directory, order } = documents;
  const generations = new Generations(runtime, { blobs, pool }, uploads, creation);
  const drafts = new Drafts(runtime, uploads, creation);
  return {
    drafts,
    generations,
    templates: new Templates({ runtime, order, uploads, directory, creation, generations, folderRights }),
    savedFlows: new SavedFlowService(runtime, creation),
    editorSessions: new EditorSessionService({ runtime, tickets, tenants, drafts, publicUrl, folderRights }),
    marksSessions: new MarksSessionService(runtime, uploads, tenants, publicUrl),
  };
}
