/** Parts of the portal for requests that are not sent yet: drafts, templates, saved flows and sessions of the editor. */

import type { Accounts } from './accounts.ts';
import type { DocumentServices } from './document-services.ts';
import { Generations } from './generations/generations.ts';
import { Templates } from './generations/templates.ts';
import { Drafts } from './saved-requests/drafts.ts';
import { EditorSessionService } from './saved-requests/editor-sessions.ts';
import { MarksSessionService } from './saved-requests/marks-sessions.ts';
import { SavedFlowService } from './saved-requests/saved-flows.ts';
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
