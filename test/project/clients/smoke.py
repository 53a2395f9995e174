"""Signs a file, then asks with a wrong key. The client of the portal is loaded completely."""
import os
import sys

import sealwright_batch
import sealwright_portal


def files(key):
    settings = sealwright_batch.Configuration(host=os.environ["BATCH_URL"], api_key={"ApiKey": key})
    return sealwright_batch.FilesApi(sealwright_batch.ApiClient(settings))


job = files(os.environ["BATCH_KEY"]).post_files(sys.argv[1], wait=30)
print(job.status, job.file_name, sealwright_portal.DocumentsApi is not None)
try:
    files("wrong").post_files(sys.argv[1])
except sealwright_batch.ApiException as refused:
    print(refused.status)
