export { type OpensslVerdict, opensslCms, opensslCmsPrint } from './openssl.ts';
export { type MutoolVerdict, mutool, type PdfsigVerdict, pdfsig, type QpdfVerdict, qpdf } from './pdf.ts';
export { isPresent, requireTool, runTool, type ToolName, type ToolRun } from './tool.ts';
export { type XmlsecVerdict, xmlsec1 } from './xml.ts';
