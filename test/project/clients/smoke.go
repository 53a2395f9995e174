// Signs a file, then asks with a wrong key. The client of the portal is compiled.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	batch "github.com/sealwright/batch"
	portal "github.com/sealwright/portal"
)

func sign(key string) (batch.JobWithHistory, *http.Response, error) {
	settings := batch.NewConfiguration()
	settings.Servers = batch.ServerConfigurations{{URL: os.Getenv("BATCH_URL")}}
	keys := map[string]batch.APIKey{"ApiKey": {Key: key}}
	ctx := context.WithValue(context.Background(), batch.ContextAPIKeys, keys)
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	return batch.NewAPIClient(settings).FilesApi.PostFiles(ctx).File(file).Wait(30).Execute()
}

func main() {
	job, _, _ := sign(os.Getenv("BATCH_KEY"))
	fmt.Println(job.GetStatus(), job.GetFileName(), portal.NewAPIClient(portal.NewConfiguration()).DocumentsApi != nil)
	_, answer, err := sign("wrong")
	problem := err.(batch.GenericOpenAPIError).Model().(batch.Problem)
	fmt.Println(answer.StatusCode, problem.GetCode())
}
