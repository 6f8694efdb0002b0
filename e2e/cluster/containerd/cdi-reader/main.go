// Reads CDI specs with the library that containerd reads them with, and says of each whether it is one.
package main

import (
	"encoding/json"
	"os"

	"tags.cncf.io/container-device-interface/pkg/cdi"
)

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		answer := map[string]string{"path": path}
		if _, err := cdi.ReadSpec(path, 0); err != nil {
			answer["error"] = err.Error()
		}
		if err := out.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}
