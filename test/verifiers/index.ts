export { type OpensslVerdict, opensslCms, opensslCmsPrint } from './openssl.ts';
export { type MutoolVerdict, mutool, type PdfsigVerdict, pdfsig, type QpdfVerdict, qpdf } from './pdf.ts';
export { isPresent, runTool, type ToolName, type ToolRun, withTools } from './tool.ts';
export { type XmlsecVerdict, xmlsec1 } from './xml.ts';
