// Asks a kubelet, again and again, which devices its containers have, and prints the answer whenever it is another one:
// one line of JSON, {"NAMESPACE/POD/CONTAINER RESOURCE": [ID, …]}.
// usage: pod-resources SOCKET SECONDS-BETWEEN
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/kubelet/pkg/apis/podresources/v1"
)

func list(client v1.PodResourcesListerClient) ([]byte, error) {
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	answer, err := client.List(limited, &v1.ListPodResourcesRequest{})
	if err != nil {
		return nil, err
	}
	held := map[string][]string{}
	for _, pod := range answer.PodResources {
		for _, container := range pod.Containers {
			for _, devices := range container.Devices {
				key := fmt.Sprintf("%s/%s/%s %s", pod.Namespace, pod.Name, container.Name, devices.ResourceName)
				held[key] = append(held[key], devices.DeviceIds...)
			}
		}
	}
	for _, ids := range held {
		sort.Strings(ids)
	}
	return json.Marshal(held)
}

func main() {
	pause, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		panic(err)
	}
	connection, err := grpc.NewClient("unix://"+os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	client := v1.NewPodResourcesListerClient(connection)
	var last []byte
	for ; ; time.Sleep(time.Duration(pause * float64(time.Second))) {
		// A kubelet that is away for a moment is asked again.
		now, err := list(client)
		if err == nil && !bytes.Equal(now, last) {
			fmt.Println(string(now))
			last = now
		}
	}
}
